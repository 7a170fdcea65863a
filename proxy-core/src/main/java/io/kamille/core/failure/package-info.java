/** Trouble on the wire as a value: what went wrong, on which side, and whether to try again. */
@NullMarked
package io.kamille.core.failure;

import org.jspecify.annotations.NullMarked;
