/** What Kamille counts: declared once, written by one loop each, summed by whoever reads. */
@NullMarked
package io.kamille.core.metric;

import org.jspecify.annotations.NullMarked;
