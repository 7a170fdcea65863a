package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Octets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The forms of request field values that equivalent values share (RFC 9111 §4.1). Stateless. */
final class SelectingValues {

  /*
   * Only what a field's own definition makes equivalent is made equal: a difference overlooked
   * gives somebody the wrong response, one kept costs a miss.
   *
   * Accept-Encoding: codings ignore case, x-gzip and x-compress have other names (RFC 9110 §8.4.1),
   * order means nothing beside weights (§12.5.3), q=1 is the default. Accept-Language: tags ignore
   * case. Some origins read order as preference (§12.5.4), so it stays. Accept: white space around
   * commas and semicolons.
   */

  private SelectingValues() {}

  /** The normal form of {@code value}; the value itself for a field we know nothing of. */
  static String normal(@Nullable FieldName name, String value) {
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
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (isQuoted) {
        member.append(c);
        if (c == '\\' && i + 1 < value.length()) {
          member.append(value.charAt(++i));
        } else if (c == '"') {
          isQuoted = false;
        }
      } else if (c == ',') {
        take(member, members);
      } else if (c == ';') {
        trimEnd(member);
        member.append(c);
      } else if ((c != ' ' && c != '\t') || isInside(member)) {
        member.append(c);
        isQuoted = c == '"';
      }
    }
    take(member, members);
    return members;
  }

  private static boolean isInside(StringBuilder member) {
    return !member.isEmpty() && member.charAt(member.length() - 1) != ';';
  }

  private static void take(StringBuilder member, List<String> members) {
    trimEnd(member);
    if (!member.isEmpty()) {
      members.add(member.toString());
    }
    member.setLength(0);
  }

  private static void trimEnd(StringBuilder text) {
    int length = text.length();
    while (length > 0 && (text.charAt(length - 1) == ' ' || text.charAt(length - 1) == '\t')) {
      length--;
    }
    text.setLength(length);
  }

  /** Codings with their weights, in the order of their names; as they came if one is malformed. */
  private static String codings(List<String> members) {
    Map<String, String> weights = new TreeMap<>();
    for (String member : members) {
      int semicolon = member.indexOf(';');
      String coding = semicolon < 0 ? member : member.substring(0, semicolon);
      String weight = semicolon < 0 ? "1" : weight(member.substring(semicolon + 1));
      if (weight == null || !Octets.isToken(coding)) {
        return String.join(",", members);
      }
      String before = weights.put(canonicalCoding(coding), weight);
      if (before != null && !before.equals(weight)) {
        return String.join(",", members);
      }
    }
    StringBuilder normal = new StringBuilder();
    weights.forEach(
        (coding, weight) -> normal.append(coding).append(';').append(weight).append(','));
    return normal.toString();
  }

  private static String canonicalCoding(String coding) {
    return switch (coding) {
      case "x-gzip" -> "gzip";
      case "x-compress" -> "compress";
      default -> coding;
    };
  }

  /** A weight (RFC 9110 §12.4.2) without trailing zeros, or null. */
  private static @Nullable String weight(String parameter) {
    if (!parameter.matches("q=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)")) {
      return null;
    }
    String value = parameter.substring(2);
    return value.contains(".") ? value.replaceAll("\\.?0*$", "") : value;
  }
}
