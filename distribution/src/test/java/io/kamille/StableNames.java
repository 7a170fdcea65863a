package io.kamille;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Identity;
import io.kamille.core.loop.WallClock;
import io.kamille.launcher.cli.ExitCode;
import io.kamille.launcher.cli.ReferencePages;
import io.kamille.launcher.cli.ReferencePages.Declared;
import io.kamille.launcher.configuration.SettingsReference;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The names that others rely on, as the code has them. */
public final class StableNames {

  private static final Path ROOT = Path.of("..");
  private static final Pattern ADDED_MEMBER =
      Pattern.compile("(?m)^ +[A-Z_]+\\(\"[^\"]+\", \"([^\"]+)\"\\)");
  private static final Pattern FORMAT =
      Pattern.compile(" static final (?:byte|short|int) (?:VERSION|FORMAT|FORM|LEVEL) = (\\d+);");

  /** The class that has the version of each format. */
  private static final Map<String, String> FORMATS =
      Map.of(
          "RecordHeader", "disk-record",
          "PurgeJournal", "purge-journal",
          "StateMessage", "upgrade-state",
          "Report", "cluster-level");

  private StableNames() {}

  /**
   * Adds the names that are new in this release.
   *
   * @param arguments the list, which keeps what it has
   */
  public static void main(String[] arguments) throws Exception {
    Path list = Path.of(arguments[0]);
    Files.write(list, united(Files.readAllLines(list), all()));
  }

  static Collection<String> united(List<String> listed, Set<String> code) {
    Set<String> names = new TreeSet<>(listed);
    names.addAll(code);
    return names;
  }

  /** The names of the code. */
  static Set<String> all() throws Exception {
    Set<String> names = new TreeSet<>();
    SettingsReference.names().forEach(name -> names.add("setting " + name));
    Declared declared = ReferencePages.declared();
    declared.metrics().forEach(metric -> names.add("metric " + metric.name()));
    declared
        .openApi()
        .path("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .propertyNames()
                    .forEach(
                        method ->
                            names.add(
                                "api " + method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
    accessLog().forEach(member -> names.add("log access " + member));
    auditLog().forEach(member -> names.add("log audit " + member));
    for (Field code : ExitCode.class.getFields()) {
      names.add("exit " + code.getInt(null) + " " + code.getName());
    }
    names.addAll(formats());
    return names;
  }

  private static Set<String> accessLog() throws IOException {
    Set<String> members = PagesTest.membersOfTheAccessLog();
    Path added = ROOT.resolve("proxy-core/src/main/java/io/kamille/core/log/LoggedField.java");
    ADDED_MEMBER
        .matcher(Files.readString(added))
        .results()
        .map(member -> member.group(1))
        .forEach(member -> members.add(member.endsWith(":") ? member + "NAME" : member));
    return members;
  }

  /** Those of a line that has all. */
  private static Set<String> auditLog() throws IOException {
    Set<String> members = new TreeSet<>();
    Path directory = Files.createTempDirectory("kamille-names");
    try (AuditLog log = AuditLog.open(directory.resolve("audit.jsonl"), WallClock.system())) {
      log.append(Identity.local(), "PUT /v1/a", "/v1/a", "{}", "200");
      log.last(1).getFirst().forEach((name, value) -> members.addAll(members(name, value)));
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
    return members;
  }

  private static List<String> members(String name, Object value) {
    return value instanceof Map<?, ?> inner
        ? inner.keySet().stream().map(member -> name + "." + member).toList()
        : List.of(name);
  }

  private static Set<String> formats() throws IOException {
    Set<String> formats = new TreeSet<>();
    try (Stream<Path> sources = PagesTest.sources()) {
      for (Path source : sources.filter(file -> file.toString().contains("/src/main/")).toList()) {
        String type = String.valueOf(source.getFileName()).replace(".java", "");
        FORMAT
            .matcher(Files.readString(source))
            .results()
            .forEach(
                version ->
                    formats.add(
                        "format " + FORMATS.getOrDefault(type, type) + " " + version.group(1)));
      }
    }
    return formats;
  }
}
