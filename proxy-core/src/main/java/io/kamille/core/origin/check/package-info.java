/** Checks that ask origins whether they are well. */
@NullMarked
package io.kamille.core.origin.check;

import org.jspecify.annotations.NullMarked;
