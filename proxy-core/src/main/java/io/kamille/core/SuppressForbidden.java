package io.kamille.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Allows a call that forbidden-apis would refuse, on one method or constructor, for a reason. */
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface SuppressForbidden {

  /** Why the call is right here, in one sentence. */
  String value();
}
