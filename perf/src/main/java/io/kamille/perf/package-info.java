/** The measuring side: benchmarks, load, and the experiments of the papers. */
@NullMarked
package io.kamille.perf;

import org.jspecify.annotations.NullMarked;
