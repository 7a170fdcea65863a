/** The table of operations, a file for each group of resources, and what all share. No I/O. */
@NullMarked
package io.kamille.admin.api;

import org.jspecify.annotations.NullMarked;
