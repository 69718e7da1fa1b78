"""One model a file, twins side by side: `dlrm.cpp` and `dlrm.py` do the same arithmetic on the same
inputs. The Python file says what the model is. A model uses `harness/case` and `blocks/`;
docs/workloads.md says how to add one."""
