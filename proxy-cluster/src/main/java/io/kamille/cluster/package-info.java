/** Several nodes as one cache, put together. */
@NullMarked
package io.kamille.cluster;

import org.jspecify.annotations.NullMarked;
