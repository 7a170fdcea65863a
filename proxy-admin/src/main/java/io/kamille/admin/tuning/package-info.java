/** Send buffers: what each connection can use, and how one budget is shared. */
@NullMarked
package io.kamille.admin.tuning;

import org.jspecify.annotations.NullMarked;
