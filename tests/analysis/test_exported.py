"""The public names are listed, sorted, and there."""

import analysis


def test_public_names_are_sorted_and_exist() -> None:
    assert analysis.__all__ == sorted(analysis.__all__)
    assert all(hasattr(analysis, name) for name in analysis.__all__)


def test_the_library_loads_neither_django_nor_torch() -> None:
    import subprocess
    import sys

    code = "import analysis, sys; print([m for m in ('django', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
