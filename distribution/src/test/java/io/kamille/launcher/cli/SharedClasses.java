package io.kamille.launcher.cli;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import io.kamille.core.Await;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of processes that tests start, and an archive of its classes: a start with it
 * takes half the CPU time. The first test that needs them makes them for all.
 */
final class SharedClasses {

  private static final Path TARGET = Path.of("target");
  private static final Path CLASSES = TARGET.resolve("classes");
  private static final Path JAR = TARGET.resolve("processes.jar");
  private static final Path ARCHIVE = TARGET.resolve("processes.jsa");
  private static final List<String> OPTIONS = made();

  private SharedClasses() {}

  /** For the command line of the JVM. */
  static List<String> options() {
    return OPTIONS;
  }

  private static List<String> made() {
    String classPath = System.getProperty("java.class.path");
    List<Path> entries =
        Stream.of(classPath.split(File.pathSeparator, -1))
            .filter(entry -> !entry.isEmpty())
            .map(Path::of)
            .toList();
    // An archive is of jars alone. If modules are not packaged, processes start without one.
    boolean isPackaged =
        entries.stream()
            .filter(Files::isDirectory)
            .allMatch(path -> path.startsWith(TARGET.toAbsolutePath()));
    if (!isPackaged) {
      return List.of("-cp", classPath);
    }
    String jars =
        Stream.concat(
                Stream.of(JAR.toAbsolutePath()),
                entries.stream().filter(entry -> !Files.isDirectory(entry)))
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    try (FileChannel made = FileChannel.open(TARGET.resolve("processes.lock"), CREATE, WRITE)) {
      // Until the channel closes: other test JVMs wait.
      made.lock();
      if (!isCurrent(entries)) {
        pack();
        train(jars);
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
    return List.of("-XX:SharedArchiveFile=" + ARCHIVE.toAbsolutePath(), "-cp", jars);
  }

  private static boolean isCurrent(List<Path> entries) throws IOException {
    if (!Files.exists(ARCHIVE)) {
      return false;
    }
    var made = Files.getLastModifiedTime(ARCHIVE);
    try (Stream<Path> classes = Files.walk(CLASSES)) {
      for (Path path : Stream.concat(classes, entries.stream()).toList()) {
        if (Files.exists(path) && Files.getLastModifiedTime(path).compareTo(made) > 0) {
          return false;
        }
      }
    }
    return true;
  }

  private static void pack() throws IOException {
    try (OutputStream file = Files.newOutputStream(JAR);
        JarOutputStream jar = new JarOutputStream(file);
        Stream<Path> files = Files.walk(CLASSES)) {
      for (Path path : files.filter(Files::isRegularFile).sorted().toList()) {
        jar.putNextEntry(new JarEntry(CLASSES.relativize(path).toString()));
        Files.copy(path, jar);
      }
    }
  }

  /** The JVM writes what a short run has loaded as it ends. */
  private static void train(String jars) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("kamille-classes");
    Path file = directory.resolve("kamille.yaml");
    Path archive = directory.resolve("classes.jsa");
    Files.writeString(
        file,
        """
        listeners: ['127.0.0.1:0']
        upstreams: {a: {origins: ['http://127.0.0.1:9']}}
        routes: [{upstream: a}]
        admin: {address: '127.0.0.1:0'}
        """);
    List<String> options =
        new ArrayList<>(List.of("-XX:ArchiveClassesAtExit=" + archive, "-cp", jars));
    try (KamilleProcess process =
        KamilleProcess.start(List.of(), options, directory, "run", "--config", file.toString())) {
      process.awaitLine("listening on ");
      process.awaitLine("admin on ");
      process.signal("TERM");
      process.awaitEnd();
    }
    Await.until(() -> Files.exists(archive), "classes are archived");
    Files.move(archive, ARCHIVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
