"""Trains a small character transformer on the device, on the text of Python's own help topics, and prints a sample.

    python examples/transformer.py [--steps 300] [--device privateuseone]

Embedding, layer norm, attention (the math path), GELU, cross-entropy, AdamW. No operator inside the training loop may fall
back to the CPU: it would be an error.
"""

from __future__ import annotations

import argparse
import time
from pydoc_data.topics import topics

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

BATCH = 16
CONTEXT = 64
WIDTH = 64
HEADS = 4
LAYERS = 2


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        query, key, value = (
            part.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(WIDTH, dim=2)
        )
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, characters: int) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(characters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters)

    def forward(self, text: Tensor) -> Tensor:
        """[batch, length] of characters to [batch, length, characters] of logits."""
        position = torch.arange(text.shape[1], device=text.device)
        return self.head(self.norm(self.blocks(self.token(text) + self.position(position))))


def sample(model: nn.Module, alphabet: list[str], prompt: str, length: int, device: torch.device) -> str:
    text = torch.tensor([[alphabet.index(character) for character in prompt]], device=device)
    with torch.no_grad():
        for _ in range(length):
            logits = model(text[:, -CONTEXT:])[:, -1]
            text = torch.cat([text, torch.multinomial(functional.softmax(logits, -1), 1)], dim=1)
    return "".join(alphabet[index] for index in text[0].tolist())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="privateuseone")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)

    corpus = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(corpus))
    text = torch.tensor([alphabet.index(character) for character in corpus], dtype=torch.int64).to(device)
    print(f"{len(corpus):,} characters, {len(alphabet)} different ones")

    torch.manual_seed(0)
    model = Transformer(len(alphabet)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    window = torch.arange(CONTEXT, device=device)
    losses = []
    start = time.perf_counter()
    with torch.anvil.forbid_fallback(), sdpa_kernel(SDPBackend.MATH):
        for step in range(1, arguments.steps + 1):
            begins = torch.randint(len(text) - CONTEXT - 1, (BATCH, 1), device=device)
            inputs, targets = text[begins + window], text[begins + window + 1]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            if step % 50 == 0 or step == 1:
                recent = torch.stack(losses[-50:]).mean().item()
                print(f"step {step:4}  loss {recent:.3f}  {(time.perf_counter() - start) / step * 1000:.0f} ms a step")
        first, last = losses[0].item(), torch.stack(losses[-50:]).mean().item()
        print(f"\nloss {first:.3f} -> {last:.3f}\n")
        print(sample(model, alphabet, "The ", 200, device))
    return 0 if last < first else 1


if __name__ == "__main__":
    raise SystemExit(main())
