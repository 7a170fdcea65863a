/** What routes do by themselves: answers of their own, and changes of messages on their way. */
@NullMarked
package io.kamille.core.action;

import org.jspecify.annotations.NullMarked;
