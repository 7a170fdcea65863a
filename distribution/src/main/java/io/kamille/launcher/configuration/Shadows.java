package io.kamille.launcher.configuration;

import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.route.Route;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.SecretText;
import io.kamille.core.setting.SectionValues;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What in a configuration has less effect than it seems, because something else goes first. */
public final class Shadows {

  /*
   * None of it is a mistake for sure, so none is refused. Each rule here is exact, and follows how
   * requests are looked at: routes by host and then by path (RouteTable), access by the smallest
   * range (AccessList), fields first removed, then set, then added (HeaderRules). That a more
   * specific route takes requests of a route for the same host is no news, unless it leaves but one
   * path.
   */
  private static final int HOSTS_SHOWN = 3;
  private static final Pattern VARIABLE =
      Pattern.compile("\\$\\{(?!file:)[^}]*}|%\\{[^}]*}|\\$[a-z][a-z0-9_]*");

  private final String file;
  private final ForwardingSettings forwarding;
  private final RoutesByHost byHost;

  /** The hosts below each wildcard that a route names, in the order of the file. */
  private final Map<String, List<String>> hostsBelow = new HashMap<>();

  private final IdentityHashMap<RouteSettings, Integer> indexes = new IdentityHashMap<>();
  private final List<String> notes = new ArrayList<>();

  Shadows(String file, List<RouteSettings> routes, ForwardingSettings forwarding) {
    this.file = file;
    this.forwarding = forwarding;
    this.byHost = new RoutesByHost(routes);
    for (RouteSettings route : routes) {
      indexes.put(route, indexes.size());
    }
    Set<String> hosts = byHost.hosts();
    for (String host : hosts) {
      wildcardsOver(host).filter(hosts::contains).forEach(over -> below(over).add(host));
    }
  }

  private static Stream<String> wildcardsOver(String host) {
    Stream<String> over =
        IntStream.range(0, host.length())
            .filter(at -> host.charAt(at) == '.')
            .mapToObj(at -> "*" + host.substring(at));
    return Stream.concat(over, Stream.of(Route.ANY_HOST)).filter(each -> !each.equals(host));
  }

  private List<String> below(String wildcard) {
    return hostsBelow.computeIfAbsent(wildcard, _ -> new ArrayList<>());
  }

  /**
   * A line for each case: file, line, column, the setting, and what goes first.
   *
   * @param file what the configuration was read from
   */
  public static List<String> of(String file, Configuration configuration) {
    var shadows = new Shadows(file, configuration.routes(), configuration.forwarding());
    List<SectionValues> listeners = configuration.values().all(Configuration.LISTENERS);
    for (int i = 0; i < listeners.size(); i++) {
      shadows.rangesInBothLists(listeners.get(i), configuration.listeners().get(i).access());
    }
    List<SectionValues> sections = configuration.values().all(Configuration.ROUTES);
    for (int i = 0; i < sections.size(); i++) {
      shadows.check(sections.get(i), configuration.routes().get(i));
    }
    return shadows.notes();
  }

  List<String> notes() {
    return List.copyOf(notes);
  }

  void check(SectionValues at, RouteSettings route) {
    String host = RoutesByHost.hostOf(route);
    hostsGoFirst(at, host, route.path());
    String below = route.path() + "/";
    RouteSettings taker = byHost.find(host, below);
    if (taker != null && taker.path().equals(below)) {
      add(
          at,
          "only " + route.path() + " itself gets here, because " + name(taker) + " has " + below);
    }
    for (String path : route.cache().bypassPaths()) {
      RouteSettings owner = byHost.find(host, path);
      if (owner != null && !owner.path().equals(route.path())) {
        hasNoEffect(at, "cache.bypass-paths", path, "it belongs to " + name(owner));
      }
    }
    rangesInBothLists(at, route.access());
    String other = route.actions().split().upstream();
    if (other != null && route.actions().split().share() >= 1) {
      hasNoEffect(at, "upstream", String.valueOf(route.upstream()), "split sends all to " + other);
    }
    for (String method : route.match().methods()) {
      String upper = method.toUpperCase(Locale.ROOT);
      if (!method.equals(upper)) {
        note(at, at.path() + ".match.methods", method + " does not match " + upper);
      }
    }
    HeaderRules request = route.actions().requestHeaders();
    fieldsSetTwice(at, "request-headers", request);
    fieldsWritten(at, request);
    fieldsSetTwice(at, "response-headers", route.actions().responseHeaders());
    isLiteral(at, "redirect", route.actions().redirect().to());
    areLiteral(at, "request-headers", request);
    areLiteral(at, "response-headers", route.actions().responseHeaders());
    for (Map<String, FieldValue> fields : List.of(request.set(), request.add())) {
      fields.forEach((name, field) -> secretsAreInFiles(at, name, field.text()));
    }
  }

  private void areLiteral(SectionValues at, String direction, HeaderRules rules) {
    rules.set().forEach((name, to) -> isLiteral(at, direction + ".set." + name, written(to)));
    rules.add().forEach((name, to) -> isLiteral(at, direction + ".add." + name, written(to)));
  }

  private static String written(FieldValue field) {
    return field.text().written();
  }

  /** Other servers would put something in the place of it. */
  private void isLiteral(SectionValues at, String setting, @Nullable String text) {
    Matcher variable = VARIABLE.matcher(text == null ? "" : text);
    if (variable.find()) {
      String what = variable.group() + " is sent as it stands, because it is no variable here";
      note(at, at.path() + "." + setting, what);
    }
  }

  private void secretsAreInFiles(SectionValues at, String name, SecretText text) {
    if (text.isSecretOf(name)) {
      String where = at.path() + ".request-headers." + name;
      note(
          at,
          where,
          "each reader of the file and its versions sees this value; write ${file:PATH}");
    }
  }

  /** A more specific host goes first, also where its path is the shorter one. */
  private void hostsGoFirst(SectionValues at, String wildcard, String path) {
    if (!wildcard.startsWith(Route.ANY_HOST)) {
      return;
    }
    List<String> first = new ArrayList<>();
    for (String host : below(wildcard)) {
      RouteSettings taker = byHost.find(host, path);
      if (taker != null && !taker.path().equals(path)) {
        first.add(host + " (" + name(taker) + ")");
      }
    }
    int more = first.size() - HOSTS_SHOWN;
    String shown = String.join(", ", first.subList(0, Math.min(HOSTS_SHOWN, first.size())));
    if (!first.isEmpty()) {
      String all = more > 0 ? shown + " and " + more + " more" : shown;
      add(at, path + " gets no requests of hosts whose own routes go first: " + all);
    }
  }

  private void rangesInBothLists(SectionValues at, AccessList access) {
    Set<AddressRange> denied = Set.copyOf(access.deny().ranges());
    for (AddressRange range : access.allow().ranges()) {
      if (denied.contains(range)) {
        hasNoEffect(at, "access.allow", range.toString(), "access.deny has it, too");
      }
    }
  }

  private void fieldsWritten(SectionValues at, HeaderRules rules) {
    for (String name : rules.remove()) {
      String setting = forwarding.writing(name);
      if (setting != null) {
        hasNoEffect(at, "request-headers.remove", name, "forwarding." + setting + " writes it");
      }
    }
  }

  private void fieldsSetTwice(SectionValues at, String direction, HeaderRules rules) {
    Set<String> set = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (String name : List.copyOf(rules.set().keySet()).reversed()) {
      if (!set.add(name)) {
        hasNoEffect(at, direction + ".set", name, "the field is set again");
      }
    }
    for (String name : rules.remove()) {
      if (set.contains(name)) {
        hasNoEffect(at, direction + ".remove", name, "the field is set");
      }
    }
  }

  private String name(RouteSettings route) {
    return "routes[" + indexes.get(route) + "]";
  }

  private void hasNoEffect(SectionValues at, String setting, String value, String why) {
    note(at, at.path() + "." + setting, value + " has no effect, because " + why);
  }

  private void add(SectionValues at, String note) {
    note(at, at.path(), note);
  }

  private void note(SectionValues at, String path, String note) {
    Position position = at.position();
    String in = position.file().isEmpty() ? file : position.file();
    String place = in + ":" + position.line() + ":" + position.column();
    notes.add(place + ": note: " + path + ": " + note);
  }
}
