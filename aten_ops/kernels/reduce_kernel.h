// The kernels behind every reduction: an operator of reduce_ops.h, run over one
// of the layouts of reduce_plan.h.
#pragma once

#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/reduce_input.h"
#include "aten_ops/kernels/reduce_ops.h"
#include "aten_ops/kernels/reduce_plan.h"
#include "aten_ops/kernels/team.h"
#include "aten_ops/kernels/zero_fill.h"

namespace anvil::kernels {

// An operator's combine, as Team::reduce takes it.
template <class Op>
struct Combine {
  Op op;
  ANVIL_DEVICE auto operator()(typename Op::Acc a, typename Op::Acc b) const {
    return op.combine(a, b);
  }
};

// What all three kernels hold.
template <class Op_, class Input_>
struct ReduceArguments {
  using Op = Op_;
  using Input = Input_;
  using Acc = typename Op::Acc;
  static constexpr int kMaxThreads = 256;
  Op op;
  Input input;
  ReduceOutputs out;
  Dims<2> kept;
  Dims<1> reduced;
  ReducePlan plan;
  Pointer<unsigned> counters;  // [units], zero
  Pointer<Acc> partials;       // [units, parts, tile]

  ANVIL_DEVICE void store(int64_t output, Acc acc) const {
    op.store(out, kept.offset(1, output), acc, plan.count);
  }
};

// Length of a slice that begins where `left` elements are left.
ANVIL_DEVICE int64_t slice_length(int64_t left, int64_t step) {
  return left < 0 ? 0 : left < step ? left : step;
}

// Reduces one part of one output with a whole team. `op` may differ from
// args.op (a second pass over the same elements).
template <class Team, class Op, class Arguments>
ANVIL_DEVICE typename Op::Acc reduce_slice(
    Team& team, const Op& op, const Arguments& args, int64_t output, int64_t part) {
  const auto& plan = args.plan;
  const auto& reduced = args.reduced;
  const auto& input = args.input;
  const int64_t outer_part = divide(part, plan.inner_parts);
  const int64_t inner_part = part - outer_part * plan.inner_parts;
  const int64_t outer_step = divide(plan.outer + plan.outer_parts - 1, plan.outer_parts);
  const int64_t inner_step = divide(plan.inner + plan.inner_parts - 1, plan.inner_parts);
  const int64_t outer_begin = outer_part * outer_step;
  const int64_t inner_begin = inner_part * inner_step;
  const int64_t outer = slice_length(plan.outer - outer_begin, outer_step);
  const int64_t inner = slice_length(plan.inner - inner_begin, inner_step);
  const int64_t stride = reduced.stride[0][0];
  const int64_t base = args.kept.offset(0, output) + inner_begin * stride;
  const Combine<Op> combine{op};
  const auto row_offset = [&](int64_t o) { return base + reduced.offset(0, outer_begin + o, 1); };
  const auto position = [&](int64_t o, int64_t i) {
    return (outer_begin + o) * plan.inner + inner_begin + i;
  };
  if constexpr (Arguments::Input::kTyped) {
    if (stride == 1 && outer == 1) {
      return team.reduce_contiguous(
          input.data + row_offset(0), inner, op.identity(), combine, [&](auto x, int64_t i) {
            return op.map(static_cast<typename Arguments::Input::Value>(x), position(0, i));
          });
    }
    if (stride == 1) {
      return team.reduce2d(outer, inner, op.identity(), combine, row_offset,
                           [&](int64_t offset, int64_t o, int64_t i) {
                             return op.map(input.load(offset + i), position(o, i));
                           });
    }
  }
  return team.reduce2d(outer, inner, op.identity(), combine, row_offset,
                       [&](int64_t offset, int64_t o, int64_t i) {
                         return op.map(input.load(offset + i * stride), position(o, i));
                       });
}

// Stores the result of a part that is the only one of its output, or leaves it
// in scratch memory, from where the last block combines the parts.
template <class Team, class Arguments>
ANVIL_DEVICE void finish_part(
    Team& team, const Arguments& args, int64_t output, int64_t part, typename Arguments::Acc acc) {
  const int64_t parts = args.plan.parts();
  if (parts == 1) {
    team.once([&] { args.store(output, acc); });
    return;
  }
  auto* partials = args.partials + output * parts;
  team.once([&] { partials[part] = acc; });
  if (team.last_block(args.counters + output, parts)) {
    const auto total =
        team.reduce(parts, args.op.identity(), Combine<typename Arguments::Op>{args.op},
                    [&](int64_t i) { return partials[i]; });
    team.once([&] { args.store(output, total); });
  }
}

// A block reduces an output or a part of it.
template <class Op, class Input>
struct TeamReduce : ReduceArguments<Op, Input> {
  using Acc = typename Op::Acc;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto& plan = this->plan;
    const int64_t parts = plan.parts();
    for (int64_t block = team.block(); block < plan.units * parts; block += team.blocks()) {
      const int64_t output = divide(block, parts);
      const int64_t part = block - output * parts;
      const Acc acc = reduce_slice(team, this->op, *this, output, part);
      finish_part(team, *this, output, part, acc);
    }
  }
};

// A block reduces neighbouring outputs over (a part of) the rows.
template <class Op, class Input>
struct ColumnReduce : ReduceArguments<Op, Input> {
  using Acc = typename Op::Acc;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto& plan = this->plan;
    const auto& op = this->op;
    const int64_t parts = plan.outer_parts;
    const int64_t columns = this->kept.size[0];
    const int64_t step = divide(plan.count + parts - 1, parts);
    Acc* acc = team.template shared<Acc>(plan.tile);
    for (int64_t block = team.block(); block < plan.units * parts; block += team.blocks()) {
      const int64_t unit = divide(block, parts);
      const int64_t part = block - unit * parts;
      const int64_t other = divide(unit, plan.tiles);
      const int64_t first = (unit - other * plan.tiles) * plan.tile;
      const int64_t width = slice_length(columns - first, plan.tile);
      const int64_t base = this->kept.offset(0, other, 1) + first;
      const int64_t begin = part * step;
      const int64_t end = begin + slice_length(plan.count - begin, step);

      team.for_each(width, [&](int64_t c) { acc[c] = op.identity(); });
      reduce_rows(team, acc, base, width, begin, end);

      const int64_t output = other * columns + first;
      if (parts == 1) {
        team.for_each(width, [&](int64_t c) { this->store(output + c, acc[c]); });
        continue;
      }
      Acc* partials = this->partials + unit * parts * plan.tile;
      team.for_each(width, [&](int64_t c) { partials[part * plan.tile + c] = acc[c]; });
      if (team.last_block(this->counters + unit, parts)) {
        team.for_each(width, [&](int64_t c) {
          Acc total = partials[c];
          for (int64_t p = 1; p < parts; ++p) {
            total = op.combine(total, partials[p * plan.tile + c]);
          }
          this->store(output + c, total);
        });
      }
    }
  }

 private:
  // Four rows at a time: as many loads in flight, and a tree of depth two. A
  // column belongs to the same thread in each for_each.
  template <class Team>
  ANVIL_DEVICE void reduce_rows(
      Team& team, Acc* acc, int64_t base, int64_t width, int64_t begin, int64_t end) const {
    const auto& op = this->op;
    const auto& input = this->input;
    int64_t r = begin;
    for (; r + 4 <= end; r += 4) {
      const int64_t x0 = base + this->reduced.offset(0, r);
      const int64_t x1 = base + this->reduced.offset(0, r + 1);
      const int64_t x2 = base + this->reduced.offset(0, r + 2);
      const int64_t x3 = base + this->reduced.offset(0, r + 3);
      team.for_each(width, [&](int64_t c) {
        const Acc a = op.combine(op.map(input.load(x0 + c), r), op.map(input.load(x1 + c), r + 1));
        const Acc b =
            op.combine(op.map(input.load(x2 + c), r + 2), op.map(input.load(x3 + c), r + 3));
        acc[c] = op.combine(acc[c], op.combine(a, b));
      });
    }
    for (; r < end; ++r) {
      const int64_t x = base + this->reduced.offset(0, r);
      team.for_each(width,
                    [&](int64_t c) { acc[c] = op.combine(acc[c], op.map(input.load(x + c), r)); });
    }
  }
};

// A thread reduces an output.
template <class Op, class Input>
struct ThreadReduce : ReduceArguments<Op, Input> {
  using Acc = typename Op::Acc;
  static constexpr int64_t kOutputsPerBlock = 512;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto& plan = this->plan;
    for (int64_t first = team.block() * kOutputsPerBlock; first < plan.outputs;
         first += team.blocks() * kOutputsPerBlock) {
      team.for_each(slice_length(plan.outputs - first, kOutputsPerBlock), [&](int64_t i) {
        const int64_t output = first + i;
        const int64_t base = this->kept.offset(0, output);
        Acc acc = this->op.identity();
        for (int64_t k = 0; k < plan.count; ++k) {
          const int64_t x = base + this->reduced.offset(0, k);
          acc = this->op.combine(acc, this->op.map(this->input.load(x), k));
        }
        this->store(output, acc);
      });
    }
  }
};

template <class Kernel>
void launch_layout(const char* name,
                   const Reduction& r,
                   const ReducePlan& plan,
                   const typename Kernel::Op& op,
                   int64_t blocks,
                   size_t shared_bytes,
                   cudaStream_t stream) {
  Kernel kernel;
  kernel.op = op;
  kernel.input = typename Kernel::Input(r.input, r.input_dtype);
  kernel.out = {r.output, r.second, r.output_dtype, r.second_dtype};
  kernel.kept = r.kept;
  kernel.reduced = r.reduced;
  kernel.plan = plan;
  if (plan.parts() > 1) {
    char* scratch = static_cast<char*>(r.scratch);
    const size_t counters = plan.counter_bytes();
    zero_fill(scratch, counters, stream);
    kernel.counters = reinterpret_cast<unsigned*>(scratch);
    kernel.partials = reinterpret_cast<typename Kernel::Acc*>(scratch + counters);
  }
  launch<Kernel>(name, {.blocks = blocks, .threads = plan.threads, .shared_bytes = shared_bytes},
                 stream, kernel);
}

// Runs `op` over elements that `Input` reads. `name` has static storage. An
// operator with a better way to reduce with a team gives its own kernel for it.
template <class Input, class Op, class TeamKernel = TeamReduce<Op, Input>>
void launch_reduce(const char* name, const Reduction& r, const Op& op, cudaStream_t stream) {
  using Acc = typename Op::Acc;
  static_assert(sizeof(Acc) <= kMaxAccumulatorBytes);
  const ReducePlan plan = plan_reduction(r);
  const int64_t blocks = plan.units * plan.parts();
  switch (plan.layout) {
    case ReduceLayout::kTeam:
      launch_layout<TeamKernel>(name, r, plan, op, blocks, 0, stream);
      break;
    case ReduceLayout::kColumns:
      launch_layout<ColumnReduce<Op, Input>>(name, r, plan, op, blocks, shared_size<Acc>(plan.tile),
                                             stream);
      break;
    case ReduceLayout::kThread:
      launch_layout<ThreadReduce<Op, Input>>(
          name, r, plan, op, blocks_for(plan.outputs, ThreadReduce<Op, Input>::kOutputsPerBlock), 0,
          stream);
      break;
  }
}

}  // namespace anvil::kernels
