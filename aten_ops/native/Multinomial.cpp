// Sampling of categories: upstream's exponential race, which is CUDA's for
// samples without replacement and for single ones.
#include <ATen/ops/empty.h>
#include <ATen/ops/multinomial_native.h>

#include "generated/random_native.h"

namespace anvil::native {

// With replacement, each sample is a race of its own: the distribution is
// CUDA's, the numbers are not, and the cost is samples * categories.
at::Tensor& multinomial_out(const at::Tensor& self,
                            int64_t num_samples,
                            bool replacement,
                            std::optional<at::Generator> generator,
                            at::Tensor& out) {
  if (!replacement || num_samples <= 1 || self.dim() < 1 || self.dim() > 2) {
    return at::native::multinomial_out(self, num_samples, replacement, generator, out);
  }
  const int64_t categories = self.size(-1);
  at::DimVector shape(self.sizes().slice(0, self.dim() - 1));
  shape.push_back(num_samples);
  at::DimVector races(shape);
  races.push_back(categories);
  const at::Tensor rows = self.unsqueeze(-2).expand(races).reshape({-1, categories});
  at::Tensor samples = at::empty({0}, out.options());
  at::native::multinomial_out(rows, 1, false, generator, samples);
  out.resize_(shape);
  out.copy_(samples.view(shape));
  return out;
}

at::Tensor multinomial(const at::Tensor& self,
                       int64_t num_samples,
                       bool replacement,
                       std::optional<at::Generator> generator) {
  at::Tensor out = at::empty({0}, self.options().dtype(at::kLong));
  return native::multinomial_out(self, num_samples, replacement, generator, out);
}

}  // namespace anvil::native
