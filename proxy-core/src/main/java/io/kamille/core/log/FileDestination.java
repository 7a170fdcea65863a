package io.kamille.core.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that is only ever appended to. Confined to the writer. */
final class FileDestination implements LogDestination {

  private final Path path;
  private FileChannel channel;

  private FileDestination(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Opens the file or creates it. */
  static FileDestination open(Path path) throws IOException {
    return new FileDestination(path, append(path));
  }

  private static FileChannel append(Path path) throws IOException {
    return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  @Override
  public void write(ByteBuffer lines) throws IOException {
    while (lines.hasRemaining()) {
      channel.write(lines);
    }
  }

  @Override
  public void reopen() throws IOException {
    FileChannel old = channel;
    channel = append(path);
    old.close();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
