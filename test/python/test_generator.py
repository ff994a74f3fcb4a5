"""The operator list and its generator: what a mistake says, and what each kind of entry becomes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ATEN_OPS = Path(__file__).resolve().parents[2] / "aten_ops"
sys.path.insert(0, str(ATEN_OPS))

from generator import emit  # noqa: E402
from generator.__main__ import main  # noqa: E402
from generator.operator_list import ListError, load  # noqa: E402
from generator.schema import Schema  # noqa: E402


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema()


@pytest.fixture
def generate(tmp_path, schema):
    """``generate(text)`` -> (header, registration) of a family ``probe`` with this list."""

    def run(text: str) -> tuple[str, str]:
        path = tmp_path / "probe.yaml"
        path.write_text(text)
        files = emit.files(load([path]), schema)
        return files["probe_native.h"], files["Register_probe.cpp"]

    return run


@pytest.fixture
def message(generate):
    """The error that a list gives."""

    def run(text: str) -> str:
        with pytest.raises(ListError) as caught:
            generate(text)
        return str(caught.value)

    return run


# --- What a mistake says: file, line, what is allowed, what was probably meant.


def test_unknown_operator_names_line_and_near_matches(message):
    text = message("# comment\n- {op: exp.out, via: stub, served: kernel}\n- {op: sigmod.out, via: stub, served: kernel}\n")
    assert text.startswith("probe.yaml:3: ")
    assert "torch has no operator 'sigmod.out'" in text and "sigmoid.out" in text


def test_unknown_overload_lists_overloads_of_the_operator(message):
    text = message("- {op: index_fill.out, via: function, served: kernel}")
    assert "no operator 'index_fill.out'" in text and "index_fill.int_Scalar_out" in text


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{op: exp.out, via: stub, served: kernel, kernal: x}", "unknown key 'kernal', allowed: op, via, served, kernel"),
        ("{op: exp.out, via: stub}", "key 'served' is missing"),
        ("{op: exp.out, via: stubs, served: kernel}", "via 'stubs' is not one of"),
        ("{op: exp.out, via: stub, served: gpu}", "served 'gpu' is not one of"),
        ("{op: exp.out, op: sin.out, via: stub, served: kernel}", "key 'op' is given twice"),
        ("{op: 3, via: stub, served: kernel}", "'op' must be a name, got 3"),
        ("{op: zero_, via: function, served: kernel, devices: some}", "devices 'some' is not one of"),
    ],
)
def test_malformed_entry_names_what_is_allowed(message, entry, expected):
    text = message(f"- {entry}")
    assert text.startswith("probe.yaml:1: ") and expected in text


def test_text_that_is_not_yaml_names_its_line(message):
    assert message("- {op: exp.out, via: stub, served: kernel}\n- {op: [}\n").startswith("probe.yaml:2: not YAML")


def test_list_without_entries_is_refused(message):
    assert "expected a list of entries" in message("# nothing\n")


def test_operator_listed_twice_names_both_places(message):
    entry = "- {op: exp.out, via: stub, served: kernel}\n"
    text = message(entry + entry)
    assert text.startswith("probe.yaml:2: ") and "listed already at probe.yaml:1" in text


def test_structured_way_of_unstructured_operator_is_refused(message):
    assert "is not structured" in message("- {op: index_put_, via: stub, served: kernel}")


def test_unstructured_way_of_structured_operator_names_the_right_entry(message):
    text = message("- {op: exp, via: function, served: kernel}")
    assert "list 'exp.out' with via: stub or impl" in text


def test_structured_group_goes_by_its_out_overload(message):
    assert "by its out overload: 'exp.out'" in message("- {op: exp, via: stub, served: kernel}")


def test_stub_of_operator_with_a_class_per_device_is_refused(message):
    text = message("- {op: _softmax.out, via: stub, served: kernel}")
    assert "softmax_cpu_out" in text and "softmax_cuda_out" in text and "via: impl" in text


def test_native_without_shared_kernel_names_the_kernels(message):
    text = message("- {op: masked_select, via: native, served: kernel}")
    assert "masked_select_cpu" in text and "masked_select_cuda" in text


def test_kernel_that_torch_does_not_export_lists_what_it_does(message):
    text = message("- {op: view, via: native, served: view, kernel: vieew}")
    assert "exports no 'vieew'" in text and "view" in text


def test_composite_operator_is_refused(message):
    assert "composite" in message("- {op: matmul, via: function, served: kernel}")


# --- What each kind of entry becomes.


def test_stub_registers_functional_out_and_in_place_over_upstreams_class(generate):
    header, text = generate("- {op: exp.out, via: stub, served: kernel}")
    for name, wrapper in (("exp", "exp"), ("exp.out", "exp_out_out"), ("exp_", "exp_")):
        assert f'm.impl("{name}", TORCH_FN(at::wrapper_PrivateUse1_{wrapper}));' in text
        assert f'{{"aten::{name}"}}' in text
    assert "struct structured_exp_out_functional final : public at::native::structured_exp_out {" in text
    assert "outputs_[output_idx] = anvil::create_out(sizes, strides, options);" in text
    assert "structured_exp" not in header


def test_named_tensors_of_older_torch_have_their_header(generate):
    _, text = generate("- {op: exp.out, via: stub, served: kernel}")
    assert ("namedinference::" in text) == ("#include <ATen/NamedTensorUtils.h>" in text)


def test_impl_declares_our_class_over_upstreams_meta(generate):
    header, text = generate("- {op: _softmax.out, via: impl, served: kernel}")
    assert "struct structured__softmax_out : public at::meta::structured__softmax {" in header
    assert "void impl(const at::Tensor & self, int64_t dim, bool half_to_float, const at::Tensor & out);" in header
    assert "final : public anvil::native::structured__softmax_out {" in text


def test_impl_receives_what_meta_has_precomputed(generate):
    header, _ = generate("- {op: cat.out, via: impl, served: kernel}")
    assert "int64_t dim, int64_t valid, bool all_contiguous" in header


def test_function_declares_torchgens_signature_and_checks_devices(generate):
    header, text = generate("- {op: index_select, via: function, served: kernel}")
    signature = "index_select(const at::Tensor & self, int64_t dim, const at::Tensor & index)"
    assert f"at::Tensor {signature};" in header
    assert f"at::Tensor wrapper_PrivateUse1_{signature} {{" in text
    assert 'check_and_update_common_device(common_device, index, "wrapper_PrivateUse1_index_select", "index");' in text
    assert "const anvil::OperatorGuard guard(device_of(self));" in text
    assert "return anvil::native::index_select(self, dim, index);" in text


def test_function_with_mutable_argument(generate):
    header, _ = generate("- {op: zero_, via: function, served: kernel}")
    assert "at::Tensor & zero_(at::Tensor & self);" in header


def test_function_named_symint_gets_symbolic_sizes(generate):
    header, _ = generate("- {op: empty_strided, via: function, served: host, kernel: empty_strided_symint}")
    assert "empty_strided_symint(c10::SymIntArrayRef size, c10::SymIntArrayRef stride" in header


def test_factory_makes_its_device_current(generate):
    _, text = generate("- {op: empty.memory_format, via: function, served: host}")
    assert "guard(anvil::factory_device(device));" in text


def test_native_calls_atens_own_kernel_without_a_counter_for_views(generate):
    header, text = generate("- {op: as_strided, via: native, served: view}")
    assert "return at::native::as_strided_tensorimpl(self, size, stride, storage_offset);" in text
    assert "counters" not in text and "as_strided" not in header


def test_served_picks_the_counter(generate):
    _, text = generate("- {op: mm.out, via: impl, served: library}")
    assert "counters[0].library();" in text and ".kernel()" not in text


def test_devices_any_leaves_check_and_guard_to_the_implementation(generate):
    _, text = generate("- {op: _copy_from, via: function, served: kernel, devices: any}")
    assert "check_and_update_common_device" not in text and "OperatorGuard" not in text


def test_operators_that_torch_does_not_check_are_not_checked(generate):
    # index_put_ takes indices on the CPU: device_check: NoCheck in native_functions.yaml.
    _, text = generate("- {op: index_put_, via: function, served: kernel, kernel: index_put}")
    assert "check_and_update_common_device" not in text


# --- Files.


def test_only_changed_files_are_written(tmp_path):
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("- {op: exp.out, via: stub, served: kernel}\n")
    two.write_text("- {op: sin.out, via: stub, served: kernel}\n")
    output = tmp_path / "generated"
    arguments = [str(one), str(two), "--output", str(output)]
    assert main(arguments) == 0
    before = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    assert set(before) == {"one_native.h", "Register_one.cpp", "two_native.h", "Register_two.cpp"}
    two.write_text("- {op: cos.out, via: stub, served: kernel}\n")
    assert main(arguments) == 0
    changed = {path.name for path in output.iterdir() if path.stat().st_mtime_ns != before[path.name]}
    assert changed == {"Register_two.cpp"}


def test_check_names_stale_and_missing_files_and_writes_nothing(tmp_path, capsys):
    path = tmp_path / "one.yaml"
    path.write_text("- {op: exp.out, via: stub, served: kernel}\n")
    output = tmp_path / "generated"
    assert main([str(path), "--output", str(output), "--check"]) == 1
    assert "stale: Register_one.cpp, one_native.h" in capsys.readouterr().err
    assert not output.exists()
    main([str(path), "--output", str(output)])
    assert main([str(path), "--output", str(output), "--check"]) == 0


def test_mistake_ends_the_build_with_one_line(tmp_path, capsys):
    path = tmp_path / "one.yaml"
    path.write_text("- {op: exp.out, via: stub, served: kernl}\n")
    assert main([str(path), "--output", str(tmp_path / "generated")]) == 1
    assert capsys.readouterr().err.startswith("operator list: one.yaml:1: ")


def test_projects_own_lists_are_valid(schema):
    lists = sorted(ATEN_OPS.glob("*.yaml"))
    assert lists
    files = emit.files(load(lists), schema)
    assert len(files) == 2 * len(lists)
