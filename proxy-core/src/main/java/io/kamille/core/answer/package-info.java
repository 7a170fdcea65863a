/** Answers of a route's own, files of a directory, and changes of messages on their way. */
@NullMarked
package io.kamille.core.answer;

import org.jspecify.annotations.NullMarked;
