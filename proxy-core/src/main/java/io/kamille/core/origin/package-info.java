/** One origin server: its address, its health, its figures, and the settings of an upstream. */
@NullMarked
package io.kamille.core.origin;

import org.jspecify.annotations.NullMarked;
