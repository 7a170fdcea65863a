/** Which handler answers a request: by the host and the path of its target URI. */
@NullMarked
package io.kamille.core.route;

import org.jspecify.annotations.NullMarked;
