package io.kamille.core.log;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A file that is only ever appended to, or standard output. Confined to the writer. */
final class LogFile implements LogDestination {

  private final @Nullable Path path;
  private FileChannel channel;

  /** Writes to that channel; {@code path} is null if it stays open, as standard output does. */
  private LogFile(@Nullable Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Opens the file or creates it; standard output if there is none. */
  static LogFile open(Optional<Path> file) throws IOException {
    return file.isPresent()
        ? new LogFile(file.get(), append(file.get()))
        : new LogFile(null, new FileOutputStream(FileDescriptor.out).getChannel());
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
    if (path != null) {
      FileChannel old = channel;
      channel = append(path);
      old.close();
    }
  }

  @Override
  public void close() throws IOException {
    if (path != null) {
      channel.close();
    }
  }
}
