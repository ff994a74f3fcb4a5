// One line on stderr.
#pragma once

namespace anvil::simulator {

// Writes "anvil simulator: <message>\n" in one write, without stdio's locks.
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...);

}  // namespace anvil::simulator
