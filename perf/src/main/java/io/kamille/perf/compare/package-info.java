/** The comparisons: what is asked of every server, in which order, and the goals. */
@NullMarked
package io.kamille.perf.compare;

import org.jspecify.annotations.NullMarked;
