/** What {@code ./dev bench NAME} compares; {@code perf/README.md} says how to add a comparison. */
@NullMarked
package io.kamille.perf.compare;

import org.jspecify.annotations.NullMarked;
