import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy" / "demo.d"), str(ROOT / "deploy" / "wheel.d"),
                str(ROOT / "tests" / "support")]
