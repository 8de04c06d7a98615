// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;

/**
 * Visits a class with a frame before each call: the types of all values on the operand
 * stack, as a class file has them for the verifier of the JVM. In these frames
 * {@code this} has a special type, which distinguishes it from other objects of its
 * class.
 */
final class CallFrames extends ClassVisitor {

	/** The type of {@code this}. It is a keyword, so no class has that name. */
	static final String THIS = "this";

	private final ClassVisitor visitor;

	private final ClassWriter writer;

	/**
	 * Create a visitor for a class file without frames.
	 * @param visitor sees the class with frames
	 */
	CallFrames(ClassVisitor visitor) {
		this(visitor, new Writer());
	}

	private CallFrames(ClassVisitor visitor, ClassWriter writer) {
		super(SpringAsmInfo.ASM_VERSION, writer);
		this.visitor = visitor;
		this.writer = writer;
	}

	@Override
	public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
		super.visit(version, access, THIS, signature, superName, interfaces);
	}

	@Override
	public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
			String @Nullable [] exceptions) {
		return new Calls(super.visitMethod(access, name, descriptor, signature, exceptions));
	}

	@Override
	public void visitEnd() {
		super.visitEnd();
		new ClassReader(this.writer.toByteArray()).accept(this.visitor, ClassReader.EXPAND_FRAMES);
	}

	/**
	 * Adds a jump to each call, because a class file has frames at the targets of jumps.
	 */
	private static final class Calls extends MethodVisitor {

		Calls(MethodVisitor writer) {
			super(SpringAsmInfo.ASM_VERSION, writer);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			jump();
			super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
		}

		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
			jump();
			super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
		}

		@Override
		public void visitTypeInsn(int opcode, String type) {
			// A cast yields the same object
			if (opcode != Opcodes.CHECKCAST) {
				super.visitTypeInsn(opcode, type);
			}
		}

		private void jump() {
			Label call = new Label();
			super.visitJumpInsn(Opcodes.GOTO, call);
			super.visitLabel(call);
		}

	}

	private static final class Writer extends ClassWriter {

		Writer() {
			super(ClassWriter.COMPUTE_FRAMES);
		}

		@Override
		protected String getCommonSuperClass(String type, String other) {
			// Without loading classes: the common type of two objects does not matter
			return "java/lang/Object";
		}

	}

}
