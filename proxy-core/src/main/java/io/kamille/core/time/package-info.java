/** The clocks that everything else is handed as a parameter. */
@NullMarked
package io.kamille.core.time;

import org.jspecify.annotations.NullMarked;
