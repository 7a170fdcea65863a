package io.kamille.perf.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Commands of the Java we run on. */
public final class Jvm {

  /*
   * The flags are those of bin/kamille, and KAMILLE_JAVA_OPTS counts here too: what is found out
   * about flags holds for the floor as well.
   */
  private static final List<String> FLAGS =
      List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseCompactObjectHeaders");

  /** The variable that bin/kamille takes options from. */
  private static final String OPTIONS = "KAMILLE_JAVA_OPTS";

  /** Seconds of load that C2 needs on one core that serves at the same time. */
  public static final int WARMUP_SECONDS = 10;

  private Jvm() {}

  /** Runs a class of this class path with these options and an argument. */
  public static List<String> command(Class<?> main, List<String> options, int argument) {
    return command(main, options, List.of(Integer.toString(argument)));
  }

  /** Runs a class of this class path with these options and arguments. */
  public static List<String> command(Class<?> main, List<String> options, List<String> arguments) {
    var words = new ArrayList<String>();
    words.add(tool("java"));
    words.addAll(FLAGS);
    String environment = System.getenv().getOrDefault(OPTIONS, "").strip();
    if (!environment.isEmpty()) {
      words.addAll(List.of(environment.split("\\s+", -1)));
    }
    words.addAll(options);
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    words.addAll(arguments);
    return words;
  }

  /** A program of the JDK. */
  public static String tool(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }
}
