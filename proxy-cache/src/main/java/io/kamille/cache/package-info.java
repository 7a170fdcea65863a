/** The shared cache as a whole: put together, operated, and handed to the next process. */
@NullMarked
package io.kamille.cache;

import org.jspecify.annotations.NullMarked;
