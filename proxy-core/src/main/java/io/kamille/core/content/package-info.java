/** Content on its way to somebody who may be slow: one loop that gives it, and where it waits. */
@NullMarked
package io.kamille.core.content;

import org.jspecify.annotations.NullMarked;
