/** Content in motion: sources, sinks and the back-pressure between them. */
@NullMarked
package io.kamille.core.content;

import org.jspecify.annotations.NullMarked;
