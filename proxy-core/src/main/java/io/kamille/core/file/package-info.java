/** Answers requests from the files below a directory. */
@NullMarked
package io.kamille.core.file;

import org.jspecify.annotations.NullMarked;
