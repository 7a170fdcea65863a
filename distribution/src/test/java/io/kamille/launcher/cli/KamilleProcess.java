package io.kamille.launcher.cli;

import io.kamille.core.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Kamille in a process of its own, and what it prints. */
final class KamilleProcess implements AutoCloseable {

  /** A process that lives for seconds starts in half the time without the optimizing compiler. */
  static final String QUICK_START = "-XX:TieredStopAtLevel=1";

  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Thread reader;
  private final Semaphore reading = new Semaphore(1);

  private KamilleProcess(Process process) {
    this.process = process;
    this.reader = Thread.ofPlatform().daemon().name("kamille-output").start(this::read);
  }

  /** So bin/kamille starts Java: what it cannot act on yet ends nothing. */
  private static final String AS_THE_SCRIPT = "--ignore-signal=HUP,USR1,USR2";

  /** Runs this command line; what it keeps goes below {@code state}. */
  static KamilleProcess start(Path state, String... arguments) throws IOException {
    return start(List.of(), state, arguments);
  }

  /** The same with options for the JVM. */
  static KamilleProcess start(List<String> options, Path state, String... arguments)
      throws IOException {
    return start(List.of(), with(options), state, arguments);
  }

  /** The same in a network namespace without interfaces. */
  static KamilleProcess sandboxed(Path state, String... arguments) throws IOException {
    return start(List.of("unshare", "--net"), SharedClasses.options(), state, arguments);
  }

  private static List<String> with(List<String> options) {
    return Stream.concat(options.stream(), SharedClasses.options().stream()).toList();
  }

  /** The same in a network namespace that is there. */
  static KamilleProcess within(
      String namespace, List<String> options, Path state, String... arguments) throws IOException {
    return start(List.of("ip", "netns", "exec", namespace), with(options), state, arguments);
  }

  /** With options that name the class path. */
  static KamilleProcess start(
      List<String> before, List<String> options, Path state, String... arguments)
      throws IOException {
    // A shell's background ignores SIGINT, and children inherit that.
    List<String> command = new ArrayList<>(before);
    command.addAll(List.of("env", "--default-signal=INT,TERM", AS_THE_SCRIPT));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            QUICK_START,
            "-Xmx256m",
            "io.kamille.launcher.Main"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("STATE_DIRECTORY", state.toString());
    return new KamilleProcess(builder.start());
  }

  /** The line of a script that becomes this code, installed at {@code home}. */
  static String installed(Path home) {
    return "exec "
        + Path.of(System.getProperty("java.home"), "bin/java")
        + " --enable-native-access=ALL-UNNAMED -Xmx256m -Djdk.serialFilter=!* "
        + QUICK_START
        + " -Dkamille.home="
        + home
        + " "
        + String.join(" ", SharedClasses.options())
        + " io.kamille.launcher.Main \"$@\"";
  }

  /** Installs a script with this line at {@code home}. */
  static void install(Path home, String line) throws IOException {
    Path script = Files.createDirectories(home.resolve("bin")).resolve("kamille");
    Files.writeString(script, "#!/bin/sh\n" + line + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Runs what is installed at {@code home}, which may start others of its kind. */
  static KamilleProcess installed(Path home, Path state, String... arguments) throws IOException {
    return installed(List.of(), home, state, arguments);
  }

  /** The same in a network namespace that is there. */
  static KamilleProcess installedWithin(
      String namespace, Path home, Path state, String... arguments) throws IOException {
    return installed(List.of("ip", "netns", "exec", namespace), home, state, arguments);
  }

  private static KamilleProcess installed(
      List<String> before, Path home, Path state, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(List.of("env", "--default-signal=INT,TERM", AS_THE_SCRIPT));
    command.add(home.resolve("bin/kamille").toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("STATE_DIRECTORY", state.toString());
    builder.environment().put("RUNTIME_DIRECTORY", state.toString());
    return new KamilleProcess(builder.start());
  }

  private void read() {
    try (BufferedReader in = process.inputReader()) {
      in.lines().forEach(this::read);
    } catch (IOException | UncheckedIOException ended) {
      // With the process.
    }
  }

  private void read(String line) {
    reading.acquireUninterruptibly();
    lines.add(line);
    reading.release();
  }

  /** Reads nothing that it prints until {@link #readOn}. */
  void stopReading() {
    reading.acquireUninterruptibly();
  }

  void readOn() {
    reading.release();
  }

  /** Waits for a line with these words, and gives what stands behind them. */
  String awaitLine(String words) {
    Await.until(
        () -> lines.stream().anyMatch(line -> line.contains(words)) || !reader.isAlive(),
        "\"" + words + "\" is printed");
    return lines.stream()
        .filter(line -> line.contains(words))
        .map(line -> line.substring(line.indexOf(words) + words.length()).strip())
        .findFirst()
        .orElseThrow(() -> new AssertionError("no \"" + words + "\" in " + lines));
  }

  InetSocketAddress address() {
    String text = awaitLine("listening on ");
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  /** Sends a signal, such as {@code HUP}. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** Files, sockets and the like that it has open. */
  int descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
      return (int) open.count();
    }
  }

  /** From now on, no descriptor from this number on can be had. */
  void limitDescriptors(int limit) throws IOException, InterruptedException {
    limit("--nofile=" + limit + ":");
  }

  /** From now on, no file grows beyond so many octets, or {@code unlimited}. */
  void limitFileSize(String octets) throws IOException, InterruptedException {
    limit("--fsize=" + octets + ":");
  }

  private void limit(String what) throws IOException, InterruptedException {
    List<String> command = List.of("prlimit", "--pid", Long.toString(process.pid()), what);
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new IOException("prlimit failed");
    }
  }

  /** Waits for the end, whoever else may still print. */
  int awaitEnd() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("still running; it printed " + lines);
    }
    return process.exitValue();
  }

  long processId() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  int exitCode() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("still running; it printed " + lines);
    }
    reader.join();
    return process.exitValue();
  }

  List<String> lines() {
    return lines;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
