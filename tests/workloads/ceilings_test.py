"""Which of the CPU's ceilings are those of its own units."""

import pytest
import programs

programs.put_suite_on_path()
import ceilings  # noqa: E402  (without torch until it measures)


@pytest.mark.parametrize("text, emulated", [
    ("processor : 0\nflags\t\t: fpu sse avx512f avx512_bf16 amx_tile\n", []),
    ("flags : fpu amx_bf16\n", []), ("flags\t: fpu avx2 avx512f\n", ["bf16"]),
    ("Features\t: fp asimd bf16 i8mm\n", []), ("Features\t: fp asimd\n", ["bf16"]),
    ("a kernel that says nothing\n", ["bf16"])])
def test_bf16_is_emulated_where_the_cpu_has_no_units_for_it(tmp_path, text, emulated):
    file = tmp_path / "cpuinfo"
    file.write_text(text)
    assert ceilings.emulated(ceilings.cpu_features(file)) == emulated
