/**
 * Answers from stored responses: field lines of our own, slices of theirs, at the client's pace.
 */
@NullMarked
package io.kamille.cache.serve;

import org.jspecify.annotations.NullMarked;
