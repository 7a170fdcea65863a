/** What connections to clients have in common, whatever version of HTTP they speak. */
@NullMarked
package io.kamille.core.client;

import org.jspecify.annotations.NullMarked;
