/** What the names of origins mean, and for how long. */
@NullMarked
package io.kamille.core.upstream.name;

import org.jspecify.annotations.NullMarked;
