/** Where origins and their addresses come from: DNS, SRV records, files, the API. */
@NullMarked
package io.kamille.core.origin.names;

import org.jspecify.annotations.NullMarked;
