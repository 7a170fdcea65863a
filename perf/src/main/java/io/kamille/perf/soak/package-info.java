/** Everything at once, for long: what {@code ./dev soak} runs, and what must be so at its end. */
@NullMarked
package io.kamille.perf.soak;

import org.jspecify.annotations.NullMarked;
