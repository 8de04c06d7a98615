// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import java.io.IOException;
import java.io.InputStream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.util.ClassUtils;

/**
 * Reads the class file of a class as the compiler wrote it. A missing class file, as in a
 * native image, or an unreadable later format is ignored.
 */
final class StoredClass {

	private static final Log logger = LogFactory.getLog(StoredClass.class);

	private StoredClass() {
	}

	/**
	 * Show the class file to a visitor if it can be read.
	 */
	static void accept(Class<?> type, ClassVisitor visitor) {
		try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
			if (file != null) {
				new ClassReader(file).accept(visitor, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | RuntimeException | LinkageError ex) {
			logger.debug("The class file of " + type.getName() + " cannot be read", ex);
		}
	}

}
