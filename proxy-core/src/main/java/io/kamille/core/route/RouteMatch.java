package io.kamille.core.route;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestCookie;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a request must have, beside host and path, to take a route: all of it. Immutable; any
 * thread.
 *
 * @param methods one of these; none for any
 * @param fields by name, in any case
 * @param cookies by name
 * @param query parameters by decoded name
 */
public record RouteMatch(
    List<String> methods,
    Map<String, ValuePattern> fields,
    Map<String, ValuePattern> cookies,
    Map<String, ValuePattern> query) {

  /** The settings under {@code match}. */
  public static final Section<RouteMatch> SECTION =
      Section.of(
          RouteMatch.class,
          Setting.of(
                  "methods",
                  ValueTypes.list("list of methods", Octets::isToken, "a method such as POST"),
                  "The methods, in upper case. `GET` does not stand for `HEAD`.")
              .defaultsTo("any", match -> List.of()),
          ValuePattern.named(
              "fields",
              "Header fields by name. One line of several is enough. A value counts as it came."),
          ValuePattern.named("cookies", "Cookies by name. The first of a name counts."),
          ValuePattern.named(
              "query", "Query parameters by name. Names and values are compared percent-decoded."));

  /** Takes everything. */
  public static final RouteMatch NONE = SECTION.defaults();

  public RouteMatch {
    methods = List.copyOf(methods);
    var names = new TreeMap<String, ValuePattern>();
    fields.forEach((name, value) -> names.put(name.toLowerCase(Locale.ROOT), value));
    fields = Collections.unmodifiableMap(names);
    cookies = Collections.unmodifiableMap(new TreeMap<>(cookies));
    query = Collections.unmodifiableMap(new TreeMap<>(query));
  }

  /** How many conditions it has. */
  public int size() {
    return (methods.isEmpty() ? 0 : 1) + fields.size() + cookies.size() + query.size();
  }

  /** Whether the request has all of it. */
  public boolean takes(RequestHead request) {
    if (!methods.isEmpty() && !takesMethod(request)) {
      return false;
    }
    for (Map.Entry<String, ValuePattern> field : fields.entrySet()) {
      if (!field.getValue().takes(request.fields(), field.getKey())) {
        return false;
      }
    }
    for (Map.Entry<String, ValuePattern> cookie : cookies.entrySet()) {
      if (!takesCookie(request.fields(), cookie.getKey(), cookie.getValue())) {
        return false;
      }
    }
    for (Map.Entry<String, ValuePattern> parameter : query.entrySet()) {
      if (!takesParameter(request, parameter.getKey(), parameter.getValue())) {
        return false;
      }
    }
    return true;
  }

  private boolean takesMethod(RequestHead request) {
    return methods.contains(
        request.method() == Method.OTHER ? request.methodText() : request.method().name());
  }

  private static boolean takesCookie(Fields fields, String name, ValuePattern value) {
    long found = RequestCookie.find(fields, name);
    return found == RequestCookie.NONE
        ? value.isAbsent()
        : value.takes(fields.octets(), RequestCookie.start(found), RequestCookie.end(found), false);
  }

  private static boolean takesParameter(RequestHead request, String name, ValuePattern value) {
    byte[] octets = request.octets();
    int end = request.queryEnd();
    boolean isThere = false;
    for (int at = request.pathEnd() + 1; at < end; at++) {
      int from = at;
      at = Octets.indexOf(octets, from, end, '&');
      int equals = Octets.indexOf(octets, from, at, '=');
      if (ValuePattern.spells(octets, from, equals, true, name)) {
        isThere = true;
        if (value.takes(octets, Math.min(equals + 1, at), at, true)) {
          return true;
        }
      }
    }
    return !isThere && value.isAbsent();
  }

  /** What distinguishes the name of its route; empty if it takes everything. */
  @Override
  public String toString() {
    List<String> all = new ArrayList<>();
    if (!methods.isEmpty()) {
      all.add(String.join("|", methods));
    }
    fields.forEach((name, value) -> all.add(name + "=" + value.value()));
    cookies.forEach((name, value) -> all.add("cookie:" + name + "=" + value.value()));
    query.forEach((name, value) -> all.add("query:" + name + "=" + value.value()));
    return all.isEmpty() ? "" : " [" + String.join(", ", all) + "]";
  }
}
