/** The words of a command line: declared once, read, and explained. */
@NullMarked
package io.kamille.perf.option;

import org.jspecify.annotations.NullMarked;
