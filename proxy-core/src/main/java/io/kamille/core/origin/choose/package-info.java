/** Which origin gets a request: balancing, hashing, sticky clients, splits by percentage. */
@NullMarked
package io.kamille.core.origin.choose;

import org.jspecify.annotations.NullMarked;
