/** Several requests wait for one that was forwarded before them, and read what it brings. */
@NullMarked
package io.kamille.cache.collapse;

import org.jspecify.annotations.NullMarked;
