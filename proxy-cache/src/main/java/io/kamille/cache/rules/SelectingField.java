package io.kamille.cache.rules;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One request field that selects a response, with the value it had (RFC 9111 §4.1).
 *
 * @param name in lower case
 * @param known the same, if it is one of ours
 * @param value what the request had, its lines joined; null if it had none
 * @param normal the value in the form that equivalent values share; null if there was none
 * @param form what the route makes of the field, which the value is of then; null if nothing
 */
record SelectingField(
    String name,
    @Nullable FieldName known,
    @Nullable String value,
    @Nullable String normal,
    @Nullable NormalForm form) {

  /*
   * Only what a field's own definition makes equivalent is made equal: a difference overlooked
   * gives somebody the wrong response, one kept costs a miss.
   *
   * Accept-Encoding: codings ignore case, x-gzip and x-compress have other names (RFC 9110 §8.4.1),
   * order means nothing beside weights (§12.5.3), q=1 is the default. Accept-Language: tags ignore
   * case. Some origins read order as preference (§12.5.4), so it stays. Accept: white space around
   * commas and semicolons.
   */

  static SelectingField of(String name, Fields request) {
    return kept(name, joined(name, request));
  }

  static SelectingField of(NormalForm form, Fields request) {
    String value = form.of(request);
    return new SelectingField(form.name(), null, value, value, form);
  }

  /** One that was kept with its value. */
  static SelectingField kept(String name, @Nullable String value) {
    NormalForm form = Octets.isToken(name) ? null : NormalForm.parse(name);
    FieldName known = form == null ? FieldName.of(name) : null;
    String normal = value == null || form != null ? value : normalOf(known, value);
    return new SelectingField(name, known, value, normal, form);
  }

  /** The same field with the value that it has in a request. */
  SelectingField in(Fields request) {
    return form == null ? of(name, request) : of(form, request);
  }

  /** What the field is in a request; null if it has none. */
  @Nullable String valueIn(Fields request) {
    return form == null ? joined(name, request) : form.of(request);
  }

  /** Whether the field is in this request what it was then, or equivalent, or absent as then. */
  boolean matches(Fields request) {
    if (form != null) {
      return form.is(request, value);
    }
    int index = indexOf(request, 0);
    if (index < 0 || value == null) {
      return index < 0 && value == null;
    }
    boolean isOneLine = indexOf(request, index + 1) < 0;
    int start = request.valueStart(index);
    if (isOneLine && Octets.equals(request.octets(), start, request.valueEnd(index), value)) {
      return true;
    }
    String present = joined(name, request);
    return present != null && normalOf(known, present).equals(normal);
  }

  void copyTo(Fields request) {
    if (form != null) {
      form.putInto(request, value);
      return;
    }
    request.remove(name);
    if (value != null) {
      request.add(name, value);
    }
  }

  private int indexOf(Fields request, int from) {
    if (known != null) {
      return request.has(known) ? request.indexOf(known, from) : -1;
    }
    return request.indexOf(name, from);
  }

  private static @Nullable String joined(String name, Fields request) {
    var values = request.all(name);
    return values.isEmpty() ? null : String.join(", ", values);
  }

  // Normal forms

  /** The normal form of {@code value}; the value itself for a field we know nothing of. */
  private static String normalOf(@Nullable FieldName name, String value) {
    if (name == null) {
      return value;
    }
    return switch (name) {
      case ACCEPT -> String.join(",", members(value));
      case ACCEPT_LANGUAGE -> String.join(",", members(value)).toLowerCase(Locale.ROOT);
      case ACCEPT_ENCODING -> codings(members(value.toLowerCase(Locale.ROOT)));
      default -> value;
    };
  }

  /** The members of a list without white space around commas and semicolons outside quotes. */
  private static List<String> members(String value) {
    List<String> members = new ArrayList<>();
    StringBuilder member = new StringBuilder();
    boolean isQuoted = false;
    int start = 0;
    for (int at = 0; at <= value.length(); at++) {
      char c = at == value.length() ? ',' : value.charAt(at);
      if (at == value.length() || (!isQuoted && (c == ',' || c == ';'))) {
        member.append(value.substring(start, at).strip());
        start = at + 1;
        if (c == ';') {
          member.append(c);
        } else if (!member.isEmpty()) {
          members.add(member.toString());
          member.setLength(0);
        }
      } else if (c == '"') {
        isQuoted = !isQuoted;
      } else if (c == '\\' && isQuoted && at + 1 < value.length()) {
        at++;
      }
    }
    return members;
  }

  /** Codings with their weights, in the order of their names; as they came if one is malformed. */
  private static String codings(List<String> members) {
    Map<String, Integer> weights = new TreeMap<>();
    for (String member : members) {
      int end = member.indexOf(';') < 0 ? member.length() : member.indexOf(';');
      String coding = member.substring(0, end);
      byte[] octets = Fields.octetsOf(member);
      int weight = AcceptedCodings.weight(octets, end, octets.length);
      if (weight == AcceptedCodings.MALFORMED || !Octets.isToken(coding)) {
        return String.join(",", members);
      }
      Integer before = weights.put(canonicalCoding(coding), weight);
      if (before != null && before != weight) {
        return String.join(",", members);
      }
    }
    return weights.toString();
  }

  private static String canonicalCoding(String coding) {
    return switch (coding) {
      case "x-gzip" -> "gzip";
      case "x-compress" -> "compress";
      default -> coding;
    };
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SelectingField that
        && name.equals(that.name)
        && Objects.equals(normal, that.normal);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, normal);
  }

  @Override
  public String toString() {
    return name + "=" + value;
  }
}
