/** The loops, one thread each, on which everything of an exchange happens; and the clocks. */
@NullMarked
package io.kamille.core.loop;

import org.jspecify.annotations.NullMarked;
