"""What measures a model: the loop and its probes, memory, the protocol with the runner, profiles.
C++ and Python side by side: `loop.cpp` and `loop.py` measure alike. The programs of the folder
above use it; models use `case` alone."""
