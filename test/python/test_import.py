"""import torch is enough; what cannot work leaves torch alone and says why; stock CUDA is never harmed."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch

import torch_anvil

PACKAGE = pathlib.Path(torch_anvil.__file__).parent
SITE = PACKAGE.parent

# Prints "libanvil" if any of our libraries is in the process.
LIBRARIES_LOADED = "print('libanvil' if 'libanvil' in open('/proc/self/maps').read() else 'none')\n"


@pytest.fixture
def broken_package(tmp_path):
    """A copy of the installed package, made of links, that a test can spoil; its folder goes first on PYTHONPATH."""
    for entry in SITE.iterdir():
        if entry.name.startswith("torch_anvil") and entry != PACKAGE:
            (tmp_path / entry.name).symlink_to(entry)
    copy = tmp_path / "torch_anvil"
    copy.mkdir()
    for entry in PACKAGE.iterdir():
        if entry.name != "__pycache__":
            (copy / entry.name).symlink_to(entry.resolve())
    return copy


def rebuilt_for(package: pathlib.Path, **changes: str) -> None:
    info = package / "_build_info.py"
    text = info.read_text()
    for name, value in changes.items():
        text, count = re.subn(rf'^{name} = ".*"$', f'{name} = "{value}"', text, flags=re.MULTILINE)
        assert count == 1
    info.unlink()
    info.write_text(text)


def without_library(package: pathlib.Path, name: str) -> None:
    folder = (package / "lib").resolve()
    (package / "lib").unlink()
    (package / "lib").mkdir()
    for library in folder.glob("*.so"):
        if library.name != name:
            (package / "lib" / library.name).symlink_to(library)


def diagnosis(**environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "torch_anvil"], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


def test_the_diagnosis_explains_itself_and_refuses_what_it_does_not_know():
    def call(argument):
        command = [sys.executable, "-m", "torch_anvil", argument]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert call("--help").stdout.startswith("usage: python -m torch_anvil")
    assert call("--version?").returncode == 2


def test_the_diagnosis_reports_a_value_that_is_not_allowed():
    result = diagnosis(ANVIL_FALLBACK="foo")
    assert result.returncode == 1
    assert "Problem: ANVIL_FALLBACK" in result.stdout


def test_the_diagnosis_survives_a_reader_that_has_enough():
    command = f"{sys.executable} -m torch_anvil | head -c 1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert result.stderr == ""


def test_import_torch_is_enough(run_python):
    result = run_python(
        """
        import torch
        tensor = torch.ones(2, device="privateuseone")
        print(tensor.device, (tensor + 1).tolist(), torch.device("privateuseone:1"), torch.device("anvil:1").type)
        """
    )
    assert result.stdout.split("\n")[0] == "anvil:0 [2.0, 2.0] anvil:1 anvil", result.stderr
    assert result.stderr == ""


def test_import_does_not_touch_the_driver(run_python):
    result = run_python(
        """
        import torch
        print(torch.anvil.is_initialized(), "libanvil_simulator" in open("/proc/self/maps").read())
        """
    )
    assert result.stdout == "False False\n", result.stderr


def test_both_names_are_one_module():
    assert torch.privateuseone is torch.anvil
    assert torch.get_device_module("privateuseone") is torch.anvil
    assert torch.get_device_module(torch.device("anvil:1")) is torch.anvil
    assert torch.utils.backend_registration._get_custom_mod_func("device_count")() == torch.anvil.device_count()


def test_without_autoload_import_torch_anvil_loads_it(run_python):
    result = run_python(
        """
        import torch
        assert torch._C._get_privateuse1_backend_name() == "privateuseone"
        assert not hasattr(torch, "anvil")
        import torch_anvil
        print(torch.ones(2, device="anvil").sum().item())
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert result.stdout == "2.0\n", result.stderr


def test_import_torch_anvil_before_torch(run_python):
    result = run_python("import torch_anvil, torch\nprint(torch.ones(2, device='anvil').device, torch_anvil.__version__)")
    assert result.stdout == f"anvil:0 {torch_anvil.__version__}\n", result.stderr


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda p: rebuilt_for(p, TORCH_VERSION="9.8.7"), rf"for torch 9\.8\.7, but torch {re.escape(torch.__version__)}"),
        (lambda p: rebuilt_for(p, PYTHON_VERSION="2.7"), r"built for Python 2\.7, but this is Python 3"),
        (lambda p: without_library(p, "libanvil.so"), r"lost its library libanvil\.so"),
        (lambda p: without_library(p, "libanvil_simulator.so"), r"lost its library libanvil_simulator\.so"),
        (lambda p: next(p.glob("_C*.so")).unlink(), r"lost its extension _C\."),
    ],
    ids=["other-torch", "other-python", "no-libanvil", "no-simulator", "no-extension"],
)
def test_what_cannot_work_leaves_torch_alone(broken_package, run_python, spoil, expected):
    spoil(broken_package)
    path = str(broken_package.parent)
    result = run_python(
        LIBRARIES_LOADED
        + """
import torch
print(torch.ones(2).sum().item(), torch.privateuseone.is_available(), torch.privateuseone.device_count())
torch.manual_seed(0)
for use in (lambda: torch.ones(2).to("privateuseone"), lambda: torch.empty(2, device="privateuseone:1")):
    try:
        use()
    except RuntimeError as error:
        print("on use:", error)
try:
    import torch_anvil
except ImportError as error:
    print("on import:", error)
"""
        + LIBRARIES_LOADED,
        PYTHONPATH=path,
    )
    lines = result.stdout.splitlines()
    assert lines[:2] == ["none", "2.0 False 0"], result.stderr
    assert [line.split(":")[0] for line in lines[2:5]] == ["on use", "on use", "on import"]
    assert all(re.search(expected, line) for line in lines[2:5])
    assert lines[5] == "none"
    assert len(result.stderr.splitlines()) == 1
    assert re.search(expected, result.stderr)

    report = diagnosis(PYTHONPATH=path)
    assert report.returncode == 1
    assert re.search("Problem: .*" + expected, report.stdout)


def test_other_build_of_the_same_torch_release_is_accepted():
    from torch_anvil._load import check_versions

    release = torch.__version__.split("+")[0]
    assert check_versions(release + "+cpu") is None
    assert check_versions(release.rsplit(".", 1)[0] + ".99") is None


def test_missing_cuda_is_said_on_use_not_on_import(run_python, driver):
    if driver == "CUDA":
        pytest.skip("there is a GPU: ANVIL_DRIVER=cuda works")
    result = run_python(
        """
        import torch
        print(torch.anvil.is_available(), torch.anvil.device_count())
        try:
            torch.ones(2, device="anvil")
        except RuntimeError as error:
            print(error)
        """,
        ANVIL_DRIVER="cuda",
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "False 0", result.stderr
    assert re.search("no (CUDA|usable|anvil)? ?device|cudaError", lines[1]), lines
    assert result.stderr == ""


def test_unknown_driver_is_named(run_python):
    result = run_python("import torch; torch.anvil.init()", ANVIL_DRIVER="metal")
    assert "ANVIL_DRIVER=metal is not known; use auto, cuda or simulator" in result.stderr


def test_diagnosis_names_what_is_there(driver):
    report = diagnosis()
    assert report.returncode == 0, report.stdout
    assert re.search(rf"^driver +{driver} ", report.stdout, re.MULTILINE)
    assert re.search(rf"^torch +{re.escape(torch.__version__)} ", report.stdout, re.MULTILINE)
    assert re.search(r"^anvil:0 +\S", report.stdout, re.MULTILINE)


# As on a machine where stock torch has a device: the files that autoload looks for are there.
WAITING = """
import torch, torch_anvil_autoload
torch_anvil_autoload._stock_device_files = lambda: ["/dev/nvidia0"]
torch_anvil_autoload.autoload()
"""


@pytest.mark.parametrize(
    "first_use",
    ["torch.ones(2).to('privateuseone')", "torch.empty(2, device='privateuseone:0')", "import torch_anvil"],
)
def test_beside_a_stock_device_the_name_waits_for_the_first_use(run_python, first_use):
    result = run_python(
        WAITING
        + """
before = torch.accelerator.current_accelerator()
print(torch._C._get_privateuse1_backend_name(), torch.privateuseone.is_initialized(), hasattr(torch, "anvil"))
assert not torch._utils._is_privateuse1_backend_available()
torch.manual_seed(5)
"""
        + LIBRARIES_LOADED
        + f"""
assert torch.accelerator.current_accelerator() == before
{first_use}
print(torch._C._get_privateuse1_backend_name(), torch.accelerator.current_accelerator(), torch.privateuseone is torch.anvil)
print(torch.ones(3, device="privateuseone").sum().item(), torch.anvil.device_count() > 0)
""",
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert result.stdout.splitlines() == ["privateuseone False False", "none", "anvil anvil True", "3.0 True"], result.stderr


def test_a_seed_given_before_the_first_use_counts(run_python):
    result = run_python(
        WAITING + "torch.manual_seed(5)\ntorch.ones(1, device='privateuseone')\nprint(torch.anvil.initial_seed())",
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert result.stdout == "5\n", result.stderr


def test_loading_a_file_can_be_the_first_use(run_python, tmp_path):
    torch.save(torch.arange(3, device="anvil:0"), tmp_path / "tensor.pt")
    result = run_python(
        WAITING + "import sys; print(torch.load(sys.argv[1]).device)",
        str(tmp_path / "tensor.pt"),
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert result.stdout == "anvil:0\n", result.stderr


def test_looking_for_a_stock_device_initialises_nothing(run_python):
    result = run_python(
        """
        import torch, torch_anvil_autoload
        torch_anvil_autoload._stock_device_files()
        print(torch.cuda.is_initialized(), torch.cuda._is_in_bad_fork())
        """
    )
    assert result.stdout == "False False\n", result.stderr


def test_stock_cuda_trains_with_anvil_installed_and_unused(run_python):
    if not torch.cuda.is_available():
        pytest.skip("needs a stock CUDA device; the rule itself is tested by the tests of the waiting name")
    result = run_python(
        """
        import torch
        model = torch.nn.Linear(4, 1).cuda()
        model(torch.ones(2, 4, device="cuda")).sum().backward()
        print(model.weight.grad.sum().item(), torch._C._get_privateuse1_backend_name())
        """
    )
    assert result.stdout == "8.0 privateuseone\n", result.stderr
