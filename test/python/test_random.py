"""Random numbers: CUDA's, for the same seed and the same number of multiprocessors."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

DEVICE = torch.device("privateuseone:0")
MASK = 0xFFFFFFFF


@pytest.fixture(autouse=True)
def native_only():
    with torch.anvil.forbid_fallback():
        yield


def get_offset() -> int:
    """The second half of the generator's state."""
    return int.from_bytes(bytes(torch.anvil.get_rng_state().tolist()[8:]), "little")


def philox(seed: int, thread: int, position: int) -> tuple[int, int, int, int]:
    """Philox4x32-10 (Salmon et al. 2011) on counter (position, thread) and key seed."""
    c = [position & MASK, position >> 32, thread & MASK, thread >> 32]
    k = [seed & MASK, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return tuple(c)


def grid(numel: int) -> int:
    """Blocks that PyTorch's CUDA distributions launch, of 256 threads."""
    properties = torch.anvil.get_device_properties(0)
    most = properties.multi_processor_count * (properties.max_threads_per_multi_processor // 256)
    return min(most, -(-numel // 256))


def draw32(element: int, numel: int, seed: int, offset: int) -> int:
    """The 32-bit draw that decides over an element: four a thread and round, a grid apart."""
    threads = grid(numel) * 256
    turn, rest = divmod(element, threads * 4)
    return philox(seed, rest % threads, offset // 4 + turn)[rest // threads]


def draw64(element: int, numel: int, seed: int, offset: int) -> tuple[int, int]:
    """The pair of 32-bit draws of an element, where a thread makes two 64-bit values a round."""
    threads = grid(numel) * 256
    turn, rest = divmod(element, threads * 2)
    draws = philox(seed, rest % threads, offset // 4 + turn)
    return draws[2 * (rest // threads)], draws[2 * (rest // threads) + 1]


def to_float(draw: int) -> float:
    """curand_uniform: in float, x * 2^-32 + 2^-33."""
    x = torch.tensor(float(draw), dtype=torch.float64).float()
    return (x * torch.tensor(2.0**-32) + torch.tensor(2.0**-33)).item()


SIZES = [1, 5, 255, 1000, 1_100_000, 3_000_001]


def some(numel: int) -> list[int]:
    """Elements to look at: the ends, and both sides of every round and component of the grid."""
    threads = grid(numel) * 256
    edges = {0, 1, numel - 1, threads - 1, threads, 2 * threads, 3 * threads - 1, 4 * threads - 1, 4 * threads}
    return sorted(e for e in edges if e < numel)


def test_rand_gives_the_published_values_of_cuda():
    torch.manual_seed(0)
    expected = torch.tensor([0.3990, 0.5167, 0.0249, 0.9401, 0.9459])
    torch.testing.assert_close(torch.rand(5, device=DEVICE).cpu(), expected, rtol=0, atol=5e-5)


@pytest.mark.parametrize("numel", SIZES)
def test_uniform_is_cudas_draw_for_every_element(numel):
    torch.anvil.manual_seed(1234567890123)
    torch.rand(7, device=DEVICE)  # the offset is not 0
    offset = get_offset()
    x = torch.empty(numel, device=DEVICE).uniform_(-2, 3).cpu()
    for i in some(numel):
        value = torch.tensor(to_float(draw32(i, numel, 1234567890123, offset)), dtype=torch.float64) * 5 - 2
        expected = value.float().item()
        assert x[i].item() == (expected if expected != 3 else -2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize("numel", SIZES[:5])
def test_offset_grows_as_on_cuda(dtype, numel):
    torch.anvil.manual_seed(0)
    x = torch.empty(numel, dtype=dtype, device=DEVICE)
    x.random_() if dtype == torch.int64 else x.uniform_()
    unroll = 2 if dtype in (torch.float64, torch.int64) else 4
    assert get_offset() == ((numel - 1) // (256 * grid(numel) * unroll) + 1) * 4


@pytest.mark.parametrize("numel", SIZES[:5])
def test_double_uniform_uses_two_draws(numel):
    torch.anvil.manual_seed(3)
    x = torch.rand(numel, dtype=torch.float64, device=DEVICE).cpu()
    for i in some(numel):
        low, high = draw64(i, numel, 3, 0)
        expected = (low ^ (high << 21)) * 2.0**-53 + 2.0**-54
        assert x[i].item() == (expected if expected != 1 else 0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float32, torch.bool], ids=str)
@pytest.mark.parametrize("numel", [5, 1_100_000])
def test_randint_is_the_draw_modulo_the_range(dtype, numel):
    torch.anvil.manual_seed(9)
    low, high = (0, 2) if dtype == torch.bool else (3, 120)
    x = torch.empty(numel, dtype=dtype, device=DEVICE).random_(low, high).cpu()
    for i in some(numel):
        assert int(x[i].item()) == draw32(i, numel, 9, 0) % (high - low) + low


def test_wide_ranges_use_64_bit_draws():
    numel = 1000
    for low, high in ((-(2**40), 2**41), (0, 2**28)):
        torch.anvil.manual_seed(9)
        x = torch.empty(numel, dtype=torch.int64, device=DEVICE).random_(low, high).cpu()
        for i in some(numel):
            a, b = draw64(i, numel, 9, 0)
            assert x[i].item() == ((a << 32) | b) % (high - low) + low


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.float32, torch.float16], ids=str)
def test_random_without_bounds_covers_the_type(dtype):
    numel = 1000
    torch.anvil.manual_seed(2)
    x = torch.empty(numel, dtype=dtype, device=DEVICE).random_().cpu()
    for i in some(numel):
        if dtype == torch.int64:
            a, b = draw64(i, numel, 2, 0)
            expected = ((a << 32) | b) % 2**63
        else:
            digits = {torch.float32: 2**24 + 1, torch.float16: 2**11 + 1, torch.int32: 2**31, torch.int8: 2**7}
            expected = draw32(i, numel, 2, 0) % digits[dtype]
        assert x[i].item() == expected


def test_non_contiguous_outputs_are_numbered_in_memory_order():
    torch.anvil.manual_seed(4)
    dense = torch.rand(6, 4, device=DEVICE).cpu()
    torch.anvil.manual_seed(4)
    transposed = torch.empty(4, 6, device=DEVICE).t().uniform_()
    torch.testing.assert_close(transposed.cpu().t().reshape(-1), dense.reshape(-1), rtol=0, atol=0)
    torch.anvil.manual_seed(4)
    every_other = torch.zeros(6, 8, device=DEVICE)
    every_other[:, ::2].uniform_()
    torch.testing.assert_close(every_other.cpu()[:, ::2], dense, rtol=0, atol=0)
    assert not every_other.cpu()[:, 1::2].any()


@pytest.mark.parametrize("numel", [1000, 1_100_000])
def test_normal_is_box_muller_of_cudas_draws(numel):
    torch.anvil.manual_seed(5)
    x = torch.randn(numel, device=DEVICE).cpu()
    threads = grid(numel) * 256
    for i in some(numel):
        turn, rest = divmod(i, threads * 4)
        component = rest // threads
        draws = philox(5, rest % threads, turn)
        u, v = draws[component // 2 * 2 : component // 2 * 2 + 2]
        radius = math.sqrt(-2 * math.log(u * 2.0**-32 + 2.0**-33))
        angle = 2 * math.pi * (v * 2.0**-32 + 2.0**-33)
        expected = radius * (math.cos(angle) if component % 2 else math.sin(angle))
        # The angle is rounded to float: up to 2.4e-7 of radius * derivative.
        assert abs(x[i].item() - expected) <= 1e-6 * max(1.0, radius)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_moments_are_those_of_the_distributions(dtype):
    torch.anvil.manual_seed(6)
    n = 200_000
    empty = torch.empty(n, dtype=dtype, device=DEVICE)
    tolerance = 5 / math.sqrt(n)  # five standard errors, for a deviation of 1
    for fill, mean, deviation in (
        (lambda x: x.normal_(1, 2), 1, 2),
        (lambda x: x.exponential_(2), 0.5, 0.5),
        (lambda x: x.geometric_(0.5), 2, math.sqrt(2)),
        (lambda x: x.bernoulli_(0.3), 0.3, math.sqrt(0.21)),
        (lambda x: x.log_normal_(0, 0.5), math.exp(0.125), math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))),
    ):
        x = fill(empty.clone()).cpu().double()
        rounding = 2e-3 if dtype in (torch.bfloat16, torch.float16) else 0
        assert abs(x.mean().item() - mean) < tolerance * deviation + rounding * max(1, mean)
        assert abs(x.std().item() - deviation) < 0.02 * deviation
    # The Cauchy distribution has no moments; half of it lies within sigma of the median.
    x = empty.clone().cauchy_(1, 3).cpu().double()
    assert abs(((x - 1).abs() < 3).double().mean().item() - 0.5) < tolerance


def test_exponential_is_never_zero():
    torch.anvil.manual_seed(0)
    assert (torch.empty(3_000_000, device=DEVICE).exponential_().cpu() > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool], ids=str)
def test_bernoulli_with_probabilities_takes_four_elements_a_thread(dtype):
    p = torch.rand(1003)
    torch.anvil.manual_seed(8)
    x = torch.empty(1003, dtype=dtype, device=DEVICE).bernoulli_(p.to(DEVICE)).cpu()
    for i in range(1003):
        assert bool(x[i]) == (to_float(philox(8, i // 4, 0)[i % 4]) <= p[i].item())
    assert get_offset() == 12


def test_a_bad_probability_is_a_device_error(run_python):
    result = run_python(
        """
        import torch
        p = torch.full((5,), 1.5, device="anvil")
        p.bernoulli_(p)
        try:
            torch.anvil.synchronize()
        except RuntimeError as error:
            print("failed:", error)
        """
    )
    assert "failed:" in result.stdout
    assert "a probability lies outside of [0, 1]" in result.stderr


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("numel", [4000, 1001, 3_000_000])
def test_dropout_decides_by_cudas_vectors(dtype, numel):
    x = torch.ones(numel, dtype=dtype, device=DEVICE)
    torch.anvil.manual_seed(11)
    y, mask = torch.native_dropout(x, 0.25, True)
    offset = get_offset()
    assert offset == ((numel - 1) // (256 * grid(numel) * 4) + 1) * 4
    y, mask = y.cpu(), mask.cpu()
    vector = 16 // x.element_size()
    while numel % vector:
        vector //= 2
    threads = grid(numel) * 256
    for i in some(numel):
        if vector == 1:
            draw = draw32(i, numel, 11, 0)
        else:
            turn, rest = divmod(i, threads * vector)
            groups = -(-vector // 4)
            component = rest % vector
            draw = philox(11, rest // vector, turn * groups + component // 4)[component % 4]
        assert mask[i].item() == (to_float(draw) < 0.75)
        assert y[i].item() == (torch.tensor(1 / 0.75, dtype=torch.float64).to(dtype).item() if mask[i] else 0)


def test_dropout_trains_with_one_kernel_each_way():
    x = torch.randn(64, 32, device=DEVICE, requires_grad=True)
    torch.anvil.manual_seed(0)
    y = F.dropout(x, 0.5)
    (grad,) = torch.autograd.grad(y, x, torch.ones_like(y))
    kept = y.detach().cpu() != 0
    assert 0.4 < kept.double().mean().item() < 0.6
    torch.testing.assert_close(grad.cpu(), kept.float() * 2)
    torch.testing.assert_close(y.detach().cpu(), x.detach().cpu() * kept * 2)


def test_dropout_at_its_ends():
    x = torch.randn(10, device=DEVICE)
    torch.testing.assert_close(torch.native_dropout(x, 0.5, False)[0].cpu(), x.cpu())
    assert not torch.native_dropout(x, 1.0, True)[0].cpu().any()
    assert torch.native_dropout(torch.empty(0, device=DEVICE), 0.5, True)[0].numel() == 0


def test_normal_with_tensors_of_parameters():
    torch.anvil.manual_seed(1)
    mean, std = torch.arange(5.0, device=DEVICE), torch.full((5,), 1e-4, device=DEVICE)
    for sample in (torch.normal(mean, 1e-4), torch.normal(mean, std)):
        torch.testing.assert_close(sample.cpu(), torch.arange(5.0), rtol=0, atol=1e-3)
    torch.testing.assert_close(torch.normal(2.0, std).cpu(), torch.full((5,), 2.0), rtol=0, atol=1e-3)


def test_a_generator_of_ones_own_does_not_move_the_default_one():
    torch.anvil.manual_seed(0)
    expected = torch.rand(5, device=DEVICE).cpu()
    torch.anvil.manual_seed(0)
    generator = torch.Generator(device=DEVICE).manual_seed(7)
    torch.rand(5, device=DEVICE, generator=generator)
    torch.testing.assert_close(torch.rand(5, device=DEVICE).cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("n", [0, 1, 2, 100, 5000, 70_000])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32], ids=str)
def test_randperm_sorts_by_cudas_keys(n, dtype):
    torch.anvil.manual_seed(21)
    permutation = torch.randperm(n, dtype=dtype, device=DEVICE).cpu()
    assert permutation.dtype == dtype
    assert sorted(permutation.tolist()) == list(range(n))
    if n < 2:
        return
    bits = math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9))))
    torch.anvil.manual_seed(21)
    width = torch.int32 if bits <= 32 else torch.int64
    info = torch.iinfo(width)
    keys = torch.empty(n, dtype=width, device=DEVICE).random_(info.min, info.max).cpu() & ((1 << bits) - 1)
    ordered = keys[permutation.long()]
    assert (ordered[1:] >= ordered[:-1]).all()
    # Runs of equal keys are shuffled, all others are in place.
    alone = torch.ones(n, dtype=torch.bool)
    alone[1:] &= ordered[1:] != ordered[:-1]
    alone[:-1] &= ordered[1:] != ordered[:-1]
    assert torch.equal(permutation.long()[alone], keys.argsort(stable=True)[alone])


def test_randperm_moves_the_generator_as_on_cuda():
    torch.anvil.manual_seed(0)
    torch.randperm(1000, device=DEVICE)
    # 64-bit draws for the keys (4 blocks of 256 threads: one round), and n offsets for the runs of equal keys.
    assert get_offset() == 4 + 1000


def test_multinomial_draws_in_proportion_to_the_weights():
    weights = torch.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    torch.anvil.manual_seed(0)
    n = 20_000
    samples = torch.multinomial(weights.to(DEVICE), n, replacement=True).cpu()
    frequency = torch.stack([(samples == c).double().mean(1) for c in range(3)], 1)
    expected = weights.double() / weights.double().sum(1, keepdim=True)
    # Five standard errors of a frequency.
    torch.testing.assert_close(frequency, expected, rtol=0, atol=5 * 0.5 / math.sqrt(n))
    one = torch.multinomial(weights.to(DEVICE).expand(2, 3), 1).cpu()
    assert (weights.gather(1, one) > 0).all()
    assert sorted(torch.multinomial(torch.ones(5, device=DEVICE), 5).cpu().tolist()) == [0, 1, 2, 3, 4]


def test_a_generator_of_another_device_is_refused(device, other_device):
    generator = torch.Generator(other_device)
    for draw in (
        lambda: torch.rand(3, device=device, generator=generator),
        lambda: torch.ones(3, device=device).exponential_(generator=generator),
        lambda: torch.randperm(3, device=device, generator=generator),
        lambda: torch.multinomial(torch.ones(3, device=device), 2, generator=generator),
    ):
        with pytest.raises(RuntimeError, match="Expected a 'anvil:0' generator device but found 'anvil:1'"):
            draw()


@pytest.mark.parametrize("p", [2.0, -0.5, float("nan")])
def test_a_dropout_probability_outside_of_zero_and_one_is_refused(p, device):
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        torch.native_dropout(torch.ones(3, device=device), p, True)
