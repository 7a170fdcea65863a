/** Numbers made readable: medians, spreads and tables. */
@NullMarked
package io.kamille.perf.report;

import org.jspecify.annotations.NullMarked;
