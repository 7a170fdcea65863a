/** What is stored in memory, handed from one process to the next. */
@NullMarked
package io.kamille.cache.kept;

import org.jspecify.annotations.NullMarked;
