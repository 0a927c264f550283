"""Set-valued data: records, forms of published data, file formats, databases and samples."""
