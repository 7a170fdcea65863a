package io.kamille.launcher.sizing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;

/**
 * What requests cost on a machine.
 *
 * @param machine that it was measured on, as {@link #thisMachine}
 * @param version of Kamille that was measured
 * @param hit answered from memory
 * @param miss answered by an origin
 */
public record Calibration(String machine, String version, CostBySize hit, CostBySize miss) {

  /** The processors, kernel and Java here. */
  public static String thisMachine() {
    return cpuModel()
        + " × "
        + Runtime.getRuntime().availableProcessors()
        + ", "
        + System.getProperty("os.version")
        + ", Java "
        + Runtime.version().feature();
  }

  private static String cpuModel() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }

  /** Writes it, and the directories above it. */
  public void store(Path file) throws IOException {
    var text = new Properties();
    text.setProperty("machine", machine);
    text.setProperty("version", version);
    put(text, "hit.small", hit.small());
    put(text, "hit.large", hit.large());
    put(text, "miss.small", miss.small());
    put(text, "miss.large", miss.large());
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    try (var out = Files.newBufferedWriter(file)) {
      text.store(
          out, "kamille size --calibrate: µs of a loop for a request; least median greatest");
    }
  }

  private static void put(Properties text, String name, Cost cost) {
    text.setProperty(
        name,
        String.format(Locale.ROOT, "%.3f %.3f %.3f", cost.least(), cost.median(), cost.greatest()));
  }

  /**
   * Reads what {@link #store} wrote.
   *
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if it holds no calibration; says what is wrong
   */
  public static Calibration load(Path file) throws IOException {
    var text = new Properties();
    try (var in = Files.newBufferedReader(file)) {
      text.load(in);
    }
    return new Calibration(
        get(text, "machine"),
        get(text, "version"),
        new CostBySize(cost(text, "hit.small"), cost(text, "hit.large")),
        new CostBySize(cost(text, "miss.small"), cost(text, "miss.large")));
  }

  private static String get(Properties text, String name) {
    String value = text.getProperty(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }

  private static Cost cost(Properties text, String name) {
    String[] numbers = get(text, name).strip().split("\\s+", -1);
    if (numbers.length != 3) {
      throw new IllegalArgumentException(name + ": not three numbers");
    }
    return new Cost(
        Double.parseDouble(numbers[0]),
        Double.parseDouble(numbers[1]),
        Double.parseDouble(numbers[2]));
  }
}
